package dev.steadwork;

/** What becomes of a child when its parent ends in another way than by completing. */
public enum ChildPolicy {
    /** The child is cancelled with its parent. The default. */
    CANCEL,
    /** The child goes on by itself. */
    ABANDON
}
