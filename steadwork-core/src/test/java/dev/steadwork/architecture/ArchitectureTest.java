package dev.steadwork.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleName;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import dev.steadwork.Steadwork;
import dev.steadwork.TransactionBody;
import dev.steadwork.WorkflowTrigger;
import dev.steadwork.store.Store;
import dev.steadwork.store.Transact;
import dev.steadwork.trigger.StoreTrigger;
import java.sql.Connection;
import org.junit.jupiter.api.Test;

/** A line of code knows its room: which packages may know which. */
class ArchitectureTest {
    private static final String API = "dev.steadwork";
    private static final String BELOW = "dev.steadwork.*..";
    private static final String STORE = "dev.steadwork.store";
    private static final String JDBC = "dev.steadwork.store.jdbc..";

    private static final JavaClasses STEADWORK = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages(API);

    /** Triggers in the caller's transaction, and transactional steps. */
    private static final DescribedPredicate<JavaClass> KNOW_A_CONNECTION = belongToAnyOf(
                    WorkflowTrigger.class, StoreTrigger.class, Store.class, TransactionBody.class, Transact.class)
            .or(simpleName("StepRunner"));

    @Test
    void what_users_type_knows_nothing_below_it() {
        noClasses()
                .that()
                .resideInAPackage(API)
                .and(not(belongToAnyOf(Steadwork.class)))
                .should()
                .dependOnClassesThat()
                .resideInAPackage(BELOW)
                .because("only Steadwork and its builder wire the engine up")
                .check(STEADWORK);
    }

    @Test
    void the_engine_knows_the_store_and_not_how_it_is_kept() {
        noClasses()
                .that()
                .resideInAnyPackage(
                        "dev.steadwork.trigger..",
                        "dev.steadwork.claim..",
                        "dev.steadwork.execute..",
                        "dev.steadwork.maintain..",
                        "dev.steadwork.codec..",
                        STORE)
                .should()
                .dependOnClassesThat()
                .resideInAPackage(JDBC)
                .check(STEADWORK);
    }

    @Test
    void the_store_does_not_know_who_uses_it() {
        noClasses()
                .that()
                .resideInAPackage("dev.steadwork.store..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "dev.steadwork.trigger..",
                        "dev.steadwork.claim..",
                        "dev.steadwork.execute..",
                        "dev.steadwork.maintain..")
                .check(STEADWORK);
    }

    @Test
    void only_the_jdbc_store_speaks_sql() {
        noClasses()
                .that()
                .resideOutsideOfPackage(JDBC)
                .and(not(KNOW_A_CONNECTION))
                .should()
                .dependOnClassesThat()
                .resideInAPackage("java.sql..")
                .check(STEADWORK);
    }

    @Test
    void triggers_and_steps_in_a_transaction_know_of_sql_only_the_connection() {
        noClasses()
                .that(KNOW_A_CONNECTION)
                .should()
                .dependOnClassesThat(resideInAPackage("java.sql..").and(not(type(Connection.class))))
                .check(STEADWORK);
    }

    @Test
    void drivers_pools_and_mappers_of_databases_stay_in_the_jdbc_store() {
        noClasses()
                .that()
                .resideOutsideOfPackage(JDBC)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.jdbi..", "org.postgresql..", "org.sqlite..", "com.zaxxer..")
                .check(STEADWORK);
    }

    @Test
    void json_stays_in_the_codec_and_the_jdbc_store() {
        noClasses()
                .that()
                .resideOutsideOfPackages("dev.steadwork.codec..", JDBC)
                .should()
                .dependOnClassesThat()
                .resideInAPackage("com.fasterxml..")
                .check(STEADWORK);
    }

    @Test
    void only_the_metrics_know_micrometer_and_nobody_knows_them() {
        noClasses()
                .that()
                .resideOutsideOfPackage("dev.steadwork.metrics")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.micrometer..", "dev.steadwork.metrics")
                .because("Micrometer is optional: everything else loads without it")
                .check(STEADWORK);
    }

    @Test
    void metrics_know_only_what_users_may_type() {
        noClasses()
                .that()
                .resideInAPackage("dev.steadwork.metrics")
                .should()
                .dependOnClassesThat(resideInAPackage(BELOW).and(not(resideInAPackage("dev.steadwork.metrics"))))
                .check(STEADWORK);
    }

    @Test
    void the_packages_below_the_api_form_no_cycle() {
        slices().matching("dev.steadwork.(*)..").should().beFreeOfCycles().check(STEADWORK);
    }

    @Test
    void every_package_is_one_that_the_story_of_a_run_names() {
        classes()
                .should()
                .resideInAnyPackage(
                        API,
                        "dev.steadwork.trigger",
                        STORE,
                        "dev.steadwork.store.jdbc",
                        "dev.steadwork.claim",
                        "dev.steadwork.execute",
                        "dev.steadwork.maintain",
                        "dev.steadwork.metrics",
                        "dev.steadwork.codec")
                .check(STEADWORK);
    }
}
