import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Principal } from "../tenancy/principal";
import type { Services } from "./services";

/** What runs before a route leaves for it. */
export type ApiEnv = {
  Bindings: Services;
  Variables: {
    principal: Principal;
    requestId: string;
    /** The session that the index was asked for, so that it is asked once. */
    knownSession?: string;
  };
};
export type App = OpenAPIHono<ApiEnv>;
export type Call = Context<ApiEnv>;
export type Handler = (context: Call) => Response | Promise<Response>;
