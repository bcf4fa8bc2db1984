import { randomBytes } from "node:crypto";
import { SEALING_KEY_BYTES, toSealingKey } from "../../src/tenancy/sealing";

/**
 * Variables of a service for this machine with local models. Without a limit of turns, so that
 * measurements are not cut.
 */
export const LOCAL_VARIABLES = {
  OPEN_ACCESS: "loopback",
  ALLOWED_ORIGINS: "http://127.0.0.1:*",
  TENANT_CONCURRENT_TURNS: "0",
  SEALING_KEYS: toSealingKey(1, randomBytes(SEALING_KEY_BYTES)),
};
