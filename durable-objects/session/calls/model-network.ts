import { connect } from "cloudflare:sockets";
import type { Env } from "../../../src/env";
import { modelNetwork, type Network } from "../../shared/outgoing";
import { OriginProbes } from "./origin-probes";

type NetworkEnv = Pick<Env, "ALLOWED_ORIGINS" | "SERVICE_ORIGINS" | "OPEN_ACCESS">;

/**
 * The network of model calls, and the probes of its guard. `probes` is `null` on Cloudflare's edge,
 * where the result of a probe has no meaning for `fetch` (see `OriginProbes`).
 */
export function probedNetwork(env: NetworkEnv): { network: Network; probes: OriginProbes | null } {
  if (env.OPEN_ACCESS !== "loopback") return { network: modelNetwork(env), probes: null };
  const probes = new OriginProbes(connect);
  return { network: modelNetwork(env, (url, signal) => probes.reaches(url, signal)), probes };
}
