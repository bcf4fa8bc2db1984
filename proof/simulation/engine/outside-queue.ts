import type { OutsideCheck } from "./outside";

/**
 * The queue follows the user's actions: requests start in its order, none starts while it is held,
 * and each confirmed request that was not removed starts once, also after crashes.
 */
export const queueRuns: OutsideCheck = ({ queue, log, stuck, directStarts }) =>
  queue === null
    ? []
    : [...queue.model.problems, ...(stuck === null ? queue.model.lost(log, directStarts) : [])];
