/** A change that nobody could ever notice: where it is, as the source line it begins in, and why it changes nothing. */
export type Equivalent = { file: string; text: string; original: string; replacement: string; reason: string };

/** Mutants that are not counted. One that no longer fits any mutant is reported, so that the list cannot rot. */
export const EQUIVALENTS: readonly Equivalent[] = [];
