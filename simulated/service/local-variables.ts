import { randomBytes } from "node:crypto";
import { SEALING_KEY_BYTES, toSealingKey } from "../../src/tenancy/sealing";

/**
 * Variables of a service that runs on this machine with simulated models. `0` turns off the limit
 * of concurrent turns, which would distort measurements.
 */
export const LOCAL_VARIABLES = {
  OPEN_ACCESS: "loopback",
  ALLOWED_ORIGINS: "http://127.0.0.1:*",
  TENANT_CONCURRENT_TURNS: "0",
  SEALING_KEYS: toSealingKey(1, randomBytes(SEALING_KEY_BYTES)),
};
