import { z } from "@hono/zod-openapi";
import { CONTEXT_NAME, ContextNameSchema, VERSION_ID } from "../../protocol/api/contexts";
import type { Call } from "../api-env";
import { ApiError } from "../errors";

export const CONTEXT_PARAM = z.object({
  context: ContextNameSchema.describe("The context's name"),
});

/** The context named in the path. Throws `bad_id` for what cannot be one. */
export function ownerOf(context: Call): { tenant: string; name: string } {
  const name = context.req.param("context") ?? "";
  if (CONTEXT_NAME.test(name)) return { tenant: context.var.principal.tenant, name };
  throw new ApiError(
    "bad_id",
    "A context's name is 1 to 63 lower-case letters, digits, dashes and underscores.",
  );
}

/** The version asked for; null for the newest. */
export function versionOf(context: Call): string | null {
  const version = context.req.query("version") ?? null;
  if (version === null || VERSION_ID.test(version)) return version;
  throw new ApiError(
    "bad_query",
    "`version` is the id of a version: 26 lower-case letters and digits.",
  );
}
