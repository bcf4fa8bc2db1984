import * as z from "zod";
import { CONTEXT_NAME, ContextNameSchema, VERSION_ID } from "../../protocol/api/contexts";
import type { Call } from "../api-env";
import { ApiError } from "../errors";

export const CONTEXT_PARAM = z.object({
  context: ContextNameSchema.describe("Name of the context"),
});

/** The context in the path. Throws `bad_id` if the name is invalid. */
export function ownerOf(context: Call): { tenant: string; name: string } {
  const name = context.req.param("context") ?? "";
  if (CONTEXT_NAME.test(name)) return { tenant: context.var.principal.tenant, name };
  throw new ApiError(
    "bad_id",
    "The name of a context must be 1 to 63 lower-case letters, digits, dashes and underscores.",
  );
}

/** The version in the query; `null` if omitted, which means the newest. Throws `bad_query`. */
export function versionOf(context: Call): string | null {
  const version = context.req.query("version") ?? null;
  if (version === null || VERSION_ID.test(version)) return version;
  throw new ApiError(
    "bad_query",
    "`version` must be the id of a version: 26 lower-case letters and digits.",
  );
}
