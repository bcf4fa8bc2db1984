/** Control characters, line separators, and marks that turn the direction of text: a name must look like what it is. */
export const INVISIBLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;
