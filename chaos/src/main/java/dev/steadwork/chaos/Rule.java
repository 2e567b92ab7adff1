package dev.steadwork.chaos;

/** What must hold, whatever fails. */
enum Rule {
    ACCEPTED_RUNS_END("every run that was accepted is there and has completed"),
    ONE_RESULT_PER_STEP("each step has one recorded result, the one that everybody saw"),
    NO_STALE_WRITE("no write under a stale epoch took effect"),
    NOT_EXECUTED_AGAIN("no step is executed again after its checkpoint was acknowledged"),
    ONE_RUN_PER_KEY("an idempotency key is one run"),
    CHILD_RESULTS("parents saw the recorded results of their children"),
    SLEEPS_LAST("no sleep is shorter than asked"),
    SLOTS_FIRE_ONCE("every slot of a schedule fires once"),
    EFFECTS_HAPPEN_ONCE("a transactional step has its effect exactly once"),
    SIGNALS_ARRIVE("a signal that was sent is taken"),
    ANSWERS_ARE_TRUE("clients saw the recorded results");

    private final String says;

    Rule(String says) {
        this.says = says;
    }

    String says() {
        return says;
    }
}
