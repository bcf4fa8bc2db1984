import type { Env as ServiceEnv } from "../src/env";
import type { EvalRunObject } from "../durable-objects/eval-run/eval-run";
import type { SessionObject } from "../durable-objects/session/session-object";

/** What tests in workerd find in `cloudflare:workers`: the bindings and the exports of the service under test. */
declare global {
  namespace Cloudflare {
    /** The service knows its objects by what they can be asked; tests also ring their alarms. */
    interface Env extends ServiceEnv {
      SESSIONS: DurableObjectNamespace<SessionObject>;
      EVALS: DurableObjectNamespace<EvalRunObject>;
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
    /** A tool server that answers its calls once no more of them come. */
    holdingServerUrl: string;
    /** A tool server whose tokens each serve one connection, and who renews them. */
    rotatingServerUrl: string;
    rotatingIssuer: string;
    /** The same behind headers that no provider should send. */
    rudeProvidersUrl: string;
    /** A tool server one of whose tools not every model can be told of. */
    unsayableServerUrl: string;
  }
}
