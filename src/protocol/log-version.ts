/**
 * The version of the facts a turn is made of, told by its `turn.started`; absent there: 1. Raised when the fold of an older log
 * would no longer give what it gave: then `evolve` keeps understanding the version before.
 *
 * 1: before turns told their version. 2: they tell it.
 */
export const LOG_VERSION = 2;
