import type { EvalServices } from "../../src/api/services";

/** Evaluations of a service that offers none. */
export const noEvals: EvalServices = {
  suites: {},
  cronTenant: "local",
  start: () => Promise.reject(new Error("no run may start")),
  records: { latest: async () => new Map(), runs: async () => [], run: async () => null },
};
