import type { Env as ServiceEnv } from "../durable-objects/env";

/** What tests in workerd find in `cloudflare:workers`: the bindings and the exports of the service under test. */
declare global {
  namespace Cloudflare {
    interface Env extends ServiceEnv {}
    interface GlobalProps {
      mainModule: typeof import("../src/worker");
    }
  }
}

/** Values from `tests/simulated-providers-setup.ts`. */
declare module "vitest" {
  interface ProvidedContext {
    providersUrl: string;
    /** The same behind headers that no provider should send. */
    rudeProvidersUrl: string;
  }
}
