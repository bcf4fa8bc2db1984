import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Principal } from "../tenancy/principal";
import type { Services } from "./services";

/** Bindings, and the variables that middleware sets for routes. */
export type ApiEnv = {
  Bindings: Services;
  Variables: {
    principal: Principal;
    requestId: string;
    /** Id of the session that the index has confirmed, so that one query is enough. */
    knownSession?: string;
  };
};
export type App = OpenAPIHono<ApiEnv>;
export type Call = Context<ApiEnv>;
export type Handler = (context: Call) => Response | Promise<Response>;
