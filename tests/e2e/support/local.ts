export { LOCAL_VARIABLES as LOCAL } from "../../../simulated/service/local-variables";

/** The median, rounded to a whole number. */
export const median = (values: readonly number[]): number =>
  Math.round([...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN);
