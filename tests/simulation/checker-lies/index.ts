import type { Row } from "./row";
import { RULES } from "./rules";

/** Every lie that is on record, in the order of the record. */
export const LIES: readonly Row[] = [...RULES];
