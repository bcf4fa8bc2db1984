/** The form of a suite's name. */
export const SUITE_NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;

/** The form of a run id. */
export const RUN_ID = /^run_\d{8}t\d{6}z(_[a-z0-9]{1,32})?$/;
