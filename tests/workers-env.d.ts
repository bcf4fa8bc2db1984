import type { Env as ServiceEnv } from "../src/env";
import type { EvalRunObject } from "../durable-objects/eval-run/eval-run";
import type { RelayObject } from "../durable-objects/relay/relay";
import type { SessionObject } from "../durable-objects/session/session-object";

/** Types for tests in workerd: the bindings and the exports of the service under test. */
declare global {
  namespace Cloudflare {
    /** The service knows only the RPC interface of its objects. Tests also run their alarms. */
    interface Env extends ServiceEnv {
      SESSIONS: DurableObjectNamespace<SessionObject>;
      EVALS: DurableObjectNamespace<EvalRunObject>;
      RELAYS: DurableObjectNamespace<RelayObject>;
    }
    interface GlobalProps {
      mainModule: typeof import("../src/worker");
    }
  }
}

/** Values from `tests/simulated-providers-setup.ts`. */
declare module "vitest" {
  interface ProvidedContext {
    providersUrl: string;
    toolServerUrl: string;
    askingServerUrl: string;
    mediaServerUrl: string;
    /** A tool server that responds to its calls once no further call arrives. */
    holdingServerUrl: string;
    /** A tool server whose access tokens are valid for one connection. */
    rotatingServerUrl: string;
    /** URL of its authorization server. */
    rotatingIssuer: string;
    /** The same providers, but with harmful headers in their replies. */
    hostileHeadersUrl: string;
    /** See `startEchoServer`. */
    echoUrl: string;
    /** A tool server with a tool whose schema some models do not support. */
    unsupportedSchemaUrl: string;
  }
}
