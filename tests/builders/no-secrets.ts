import type { SecretServices } from "../../src/api/services";

/** Secrets of a service where nobody has any. */
export const noSecrets: SecretServices = {
  list: async () => [],
  put: () => Promise.reject(new Error("no secret may be kept")),
  remove: async () => false,
  operators: () => [],
};
