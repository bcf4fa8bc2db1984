/**
 * Set on every request that leaves: a service of this kind that receives it answers 508, so that a team cannot ask the service that
 * runs it, by whatever name.
 */
export const HOPS_HEADER = "massgen-hops";
