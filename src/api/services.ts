import type { SessionApi } from "../../durable-objects/session-api";
import type { ConfigContext } from "../config/parse-team";

/** A session as the API reaches it: its methods, and its stream by `fetch`. */
export type SessionStub = SessionApi & { fetch(url: string): Promise<Response> };

/** Everything routes need from the deployment; made in `worker.ts`. */
export type Services = {
  session(id: string): SessionStub;
  config: ConfigContext;
  /** Teams on offer: name → YAML. */
  teams: Readonly<Record<string, string>>;
  /** Whether requests to loopback addresses need no key. */
  openOnLoopback: boolean;
};
