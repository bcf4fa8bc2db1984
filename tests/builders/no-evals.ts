import type { EvalServices } from "../../src/api/services";

/** The evaluation services of a service without evaluations. */
export const noEvals: EvalServices = {
  suites: {},
  cronTenant: "local",
  start: () => Promise.reject(new Error("no run may start")),
  records: { latest: async () => new Map(), runs: async () => [], run: async () => null },
};
