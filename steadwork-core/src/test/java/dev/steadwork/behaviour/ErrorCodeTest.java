package dev.steadwork.behaviour;

import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.AwaitTimeoutException;
import dev.steadwork.Conflict;
import dev.steadwork.ErrorCode;
import dev.steadwork.InvalidArgument;
import dev.steadwork.InvalidState;
import dev.steadwork.LeaseLost;
import dev.steadwork.NonDeterministicWorkflow;
import dev.steadwork.NotFound;
import dev.steadwork.PayloadTooLarge;
import dev.steadwork.PreconditionFailed;
import dev.steadwork.RunCancelledException;
import dev.steadwork.RunError;
import dev.steadwork.RunFailedException;
import dev.steadwork.RunId;
import dev.steadwork.Serialization;
import dev.steadwork.SteadworkException;
import dev.steadwork.StepFailedException;
import dev.steadwork.Timeout;
import dev.steadwork.Unauthorized;
import dev.steadwork.Unavailable;
import dev.steadwork.testing.Proves;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ErrorCodeTest {
    private static final RunId RUN = RunId.parse("0192f0c1-7b3e-7cc1-8f4e-2b1f6d0c9a3e");
    private static final RunError ERROR = new RunError("java.io.IOException", "connection refused", "charge", null);

    private static final List<SteadworkException> ONE_OF_EACH = List.of(
            new NotFound("m"),
            new Conflict("m"),
            new InvalidArgument("m"),
            new PayloadTooLarge("m", 2, 1),
            new InvalidState("m"),
            new LeaseLost("m"),
            new PreconditionFailed("m"),
            new Unauthorized("m"),
            new Unavailable("m", null),
            new Timeout("m", null),
            new Serialization("m", null),
            new RunFailedException(RUN, ERROR),
            new RunCancelledException(RUN),
            new AwaitTimeoutException("m"),
            new StepFailedException("charge", ERROR),
            new NonDeterministicWorkflow("m"));

    @ParameterizedTest
    @Proves("STORE-3")
    @CsvSource(textBlock = """
            NotFound,                 NOT_FOUND,           false, 404, NOT_FOUND,           4
            Conflict,                 CONFLICT,            false, 409, ALREADY_EXISTS,      5
            InvalidArgument,          INVALID_ARGUMENT,    false, 400, INVALID_ARGUMENT,    2
            PayloadTooLarge,          PAYLOAD_TOO_LARGE,   false, 413, INVALID_ARGUMENT,    2
            InvalidState,             INVALID_STATE,       false, 409, FAILED_PRECONDITION, 6
            LeaseLost,                LEASE_LOST,          false, 409, ABORTED,             7
            PreconditionFailed,       PRECONDITION_FAILED, false, 412, FAILED_PRECONDITION, 8
            Unauthorized,             UNAUTHORIZED,        false, 401, UNAUTHENTICATED,     9
            Unavailable,              UNAVAILABLE,         true,  503, UNAVAILABLE,         10
            Timeout,                  TIMEOUT,             true,  504, DEADLINE_EXCEEDED,   11
            Serialization,            SERIALIZATION,       false, 422, INVALID_ARGUMENT,    12
            RunFailedException,       RUN_FAILED,          false, 422, FAILED_PRECONDITION, 20
            RunCancelledException,    RUN_CANCELLED,       false, 422, CANCELLED,           21
            AwaitTimeoutException,    AWAIT_TIMEOUT,       true,  504, DEADLINE_EXCEEDED,   22
            StepFailedException,      STEP_FAILED,         false, 422, FAILED_PRECONDITION, 23
            NonDeterministicWorkflow, NON_DETERMINISTIC,   false, 422, FAILED_PRECONDITION, 24
            """)
    void every_error_has_its_code_and_every_code_its_answers(
            String type, ErrorCode code, boolean retryable, int http, String grpc, int exit) {
        assertThat(instanceOf(type).code()).isEqualTo(code);
        assertThat(code.retryable()).isEqualTo(retryable);
        assertThat(code.httpStatus()).isEqualTo(http);
        assertThat(code.grpcCode()).isEqualTo(grpc);
        assertThat(code.exitCode()).isEqualTo(exit);
    }

    @Test
    @Proves("STORE-3")
    void the_errors_above_are_all_there_are() {
        assertThat(ONE_OF_EACH).extracting(Object::getClass).containsExactlyInAnyOrderElementsOf(errorTypes());
        assertThat(ONE_OF_EACH).extracting(SteadworkException::code).containsExactlyInAnyOrder(ErrorCode.values());
    }

    @Test
    @Proves("STORE-3")
    void the_hierarchy_is_closed() {
        assertThat(SteadworkException.class.isSealed()).isTrue();
        assertThat(errorTypes()).allMatch(type -> type.isSealed() || Modifier.isFinal(type.getModifiers()));
        assertThat(PayloadTooLarge.class).isAssignableTo(InvalidArgument.class);
    }

    @Test
    @Proves("STORE-3")
    void exit_codes_never_look_like_success() {
        assertThat(ErrorCode.values()).allMatch(code -> code.exitCode() > 1 && code.exitCode() < 126);
    }

    @Test
    @Proves("RESULT-1")
    void the_errors_of_a_run_carry_what_is_stored_of_it() {
        var failed = new RunFailedException(RUN, ERROR);

        assertThat(failed.runId()).isEqualTo(RUN);
        assertThat(failed.error()).isEqualTo(ERROR);
        assertThat(failed)
                .hasMessage("Run %s failed: step charge: java.io.IOException: connection refused".formatted(RUN));
        assertThat(new StepFailedException("charge", ERROR).step()).isEqualTo("charge");
        assertThat(new RunCancelledException(RUN)).hasMessageContaining(RUN.toString());
    }

    private static SteadworkException instanceOf(String type) {
        return ONE_OF_EACH.stream()
                .filter(error -> error.getClass().getSimpleName().equals(type))
                .findFirst()
                .orElseThrow();
    }

    private static List<Class<?>> errorTypes() {
        return subclasses(SteadworkException.class).toList();
    }

    private static Stream<Class<?>> subclasses(Class<?> type) {
        return type.isSealed()
                ? Arrays.stream(type.getPermittedSubclasses())
                        .flatMap(subclass -> Stream.concat(Stream.of(subclass), subclasses(subclass)))
                : Stream.empty();
    }
}
