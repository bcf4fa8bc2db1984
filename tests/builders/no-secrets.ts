import type { SecretServices } from "../../src/api/services";

/** The secret store of a service without secrets. */
export const noSecrets: SecretServices = {
  list: async () => [],
  put: () => Promise.reject(new Error("no secret may be stored")),
  remove: async () => false,
  operators: () => [],
};
