package dev.steadwork;

/**
 * What {@link Steadwork#doctor()} found in one respect.
 *
 * @param check what was looked at, such as {@code dead rows}
 * @param level how it stands
 * @param seen what was seen, with numbers
 * @param advice what to do; empty if there is nothing to do
 */
public record Finding(String check, Level level, String seen, String advice) {

    /** How something stands. */
    public enum Level {
        /** As it should be. */
        OK,
        /** Works, and will not for ever or not as fast as it could. */
        WARN,
        /** Runs are held up, or will be soon. */
        BAD,
        /** Could not be looked at: the user may not, or the database cannot tell. */
        UNKNOWN
    }

    public static Finding ok(String check, String seen) {
        return new Finding(check, Level.OK, seen, "");
    }

    public static Finding warn(String check, String seen, String advice) {
        return new Finding(check, Level.WARN, seen, advice);
    }

    public static Finding bad(String check, String seen, String advice) {
        return new Finding(check, Level.BAD, seen, advice);
    }

    public static Finding unknown(String check, String seen, String advice) {
        return new Finding(check, Level.UNKNOWN, seen, advice);
    }
}
