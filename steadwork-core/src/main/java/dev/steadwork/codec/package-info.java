/** Values to bytes and back: JSON, compression, encryption. Wrap one codec in another to combine them. */
@NullMarked
package dev.steadwork.codec;

import org.jspecify.annotations.NullMarked;
