package dev.steadwork.input;

/** Texts that have broken programs before. Each is either refused with a clear error or comes back as it was given. */
public enum Nasty {
    EMPTY(""),
    ONE_BLANK(" "),
    BLANKS("   \t "),
    ONLY_AN_IDEOGRAPHIC_BLANK("\u3000"),
    ONLY_A_NO_BREAK_BLANK("\u00a0"),
    ONLY_A_ZERO_WIDTH_BLANK("\u200b"),
    BLANKS_AROUND(" a "),
    A_LINE_BREAK("a\nb"),
    A_CARRIAGE_RETURN("a\r\nb"),
    A_LINE_SEPARATOR("a\u2028b"),
    NUL("\u0000"),
    NUL_INSIDE("a\u0000b"),
    ESCAPE("\u001b[31mred"),
    DELETE("a\u007f"),
    NEXT_LINE("a\u0085b"),
    LONE_HIGH_SURROGATE("a\ud83d"),
    LONE_LOW_SURROGATE("\ude00b"),
    SURROGATES_THE_WRONG_WAY_ROUND("\ude00\ud83d"),
    RIGHT_TO_LEFT("\u0645\u0631\u062d\u0628\u0627 \u05e9\u05dc\u05d5\u05dd"),
    RIGHT_TO_LEFT_OVERRIDE("invoice\u202egnp.exe"),
    BIDI_ISOLATES("\u2066a\u2067b\u2069\u2069"),
    COMBINING_MARKS("Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319\u0324"),
    COMPOSED("caf\u00e9"),
    DECOMPOSED("cafe\u0301"),
    EMOJI("\ud83d\ude00"),
    A_FAMILY_OF_EMOJI("\ud83d\udc68\u200d\ud83d\udc69\u200d\ud83d\udc67\u200d\ud83d\udc66"),
    A_FLAG("\ud83c\uddfa\ud83c\uddf3"),
    THE_LAST_CODE_POINT("\udbff\udfff"),
    A_NONCHARACTER("\uffff\ufffe"),
    A_BYTE_ORDER_MARK("\ufeffa"),
    THE_REPLACEMENT_CHARACTER("\ufffd"),
    TURKISH_CASES("\u0130\u0131iI"),
    SHARP_S("stra\u00dfe STRASSE"),
    FULL_WIDTH_DIGITS("\uff11\uff12"),
    ARABIC_DIGITS("\u0661\u0662"),
    CHARACTERS_254("n".repeat(254)),
    CHARACTERS_255("n".repeat(255)),
    CHARACTERS_256("n".repeat(256)),
    CHARACTERS_257("n".repeat(257)),
    CHARACTERS_255_IN_765_BYTES("\u540d".repeat(255)),
    CHARACTERS_254_OF_EMOJI("\ud83d\ude00".repeat(127)),
    CHARACTERS_256_OF_EMOJI("\ud83d\ude00".repeat(128)),
    BYTES_255("\u00e9".repeat(127) + "n"),
    BYTES_256("\u00e9".repeat(128)),
    BYTES_257("\u00e9".repeat(128) + "n"),
    LONG("long ".repeat(20_000)),
    A_QUOTE("'"),
    A_DOUBLE_QUOTE("\""),
    A_BACKSLASH("\\"),
    TWO_BACKSLASHES_AND_A_QUOTE("\\\\'"),
    AN_ESCAPE_AT_THE_END("a\\"),
    DROP_TABLE("'; DROP TABLE steadwork.runs; --"),
    OR_TRUE("' OR '1'='1"),
    A_DOLLAR_QUOTE("$$;SELECT 1;$$"),
    A_CAST("x::text"),
    A_NAMED_PARAMETER(":name"),
    A_POSITIONAL_PARAMETER("?"),
    A_PARAMETER_OF_POSTGRES("$1"),
    A_COMMENT("/* a */ -- b"),
    PERCENT("%"),
    UNDERSCORE("_"),
    PERCENT_INSIDE("a%b_c"),
    A_GLOB("*[a-z]?"),
    A_SCHEMA_NAME("steadwork.runs"),
    AN_ARRAY("{a,b}"),
    AN_ARRAY_WITH_NULL("{NULL,\"\"}"),
    JSON_OBJECT("{\"a\":1}"),
    JSON_UNFINISHED("{\"a\":"),
    JSON_QUOTES("\",\"b\":\""),
    JSON_ESCAPE("\\u0000"),
    JSON_PATH("$.a[0]"),
    NULL_AS_TEXT("null"),
    TRUE_AS_TEXT("true"),
    NAN("NaN"),
    INFINITY("Infinity"),
    MINUS_INFINITY("-infinity"),
    MORE_THAN_A_LONG("9223372036854775808"),
    MORE_THAN_A_DOUBLE("1e400"),
    MINUS_ZERO("-0"),
    HEXADECIMAL("0x7fffffff"),
    A_FORMAT("%s%n%d%99999999d"),
    A_BRACE_FORMAT("{} {0}"),
    A_PROPERTY("${jndi:ldap://localhost/a}"),
    HTML("<script>alert(1)</script>"),
    A_PATH_UPWARDS("../../etc/passwd"),
    AN_ABSOLUTE_PATH("/etc/passwd"),
    A_WINDOWS_PATH("C:\\con\\nul"),
    A_DOT("."),
    TWO_DOTS(".."),
    A_SLASH("/"),
    PERCENT_ENCODED("%2e%2e%2f%00"),
    A_URL("http://user:pass@host:99999/?a=b&c=d#e"),
    A_UUID("0192f0c1-7b3e-7cc1-8f4e-2b1f6d0c9a3e"),
    A_COLON("a:b"),
    A_COMMA("a,b"),
    THE_WORD_DEFAULT("default"),
    THE_NAME_OF_THE_ENGINE("steadwork");

    private final String text;

    Nasty(String text) {
        this.text = text;
    }

    public String text() {
        return text;
    }

    /** What the rules for names say of it: see {@code docs/configuration.md}. Written again here, and simply. */
    public boolean isName() {
        return !text.isBlank() && isText();
    }

    /** Like a name, but may be empty or blank. */
    public boolean isText() {
        return text.length() <= 255
                && text.codePoints().noneMatch(Character::isISOControl)
                && text.codePoints().noneMatch(c -> c >= 0xD800 && c <= 0xDFFF);
    }

    /** As the message of an error is kept, which may hold anything: what is not text is replaced, the end of a long one left out. */
    String asKeptOfAnError() {
        var kept = new StringBuilder();
        text.codePoints()
                .map(c -> c == 0 || c >= 0xD800 && c <= 0xDFFF ? 0xFFFD : c)
                .forEach(kept::appendCodePoint);
        return kept.length() <= 4_000 ? kept.toString() : kept.substring(0, 4_000) + "...";
    }
}
