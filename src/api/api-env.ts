import type { Context, Hono } from "hono";
import type { Principal } from "../tenancy/principal";
import type { Services } from "./services";

/** Types of Hono's context: the bindings, and the variables that middleware sets for routes. */
export type ApiEnv = {
  Bindings: Services;
  Variables: {
    principal: Principal;
    requestId: string;
    /** Id of a session that the index has confirmed. The request does not query the id again. */
    knownSession?: string;
  };
};
export type App = Hono<ApiEnv>;
export type Call = Context<ApiEnv>;
export type Handler = (context: Call) => Response | Promise<Response>;
