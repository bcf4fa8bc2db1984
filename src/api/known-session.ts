import { logError } from "../redaction/log";
import type { Principal } from "../tenancy/principal";
import type { Call } from "./api-env";
import type { SessionStub } from "./services";

/**
 * The caller's session, or null where the index has no row of it. A call to an object makes its storage, so a made-up id must not
 * get that far. Another tenant's id has no row under this tenant: the query and the answer are those of an unknown id. When the
 * index fails, the object is asked all the same, because it knows itself whether it is there.
 */
export async function knownSession(
  context: Call,
  caller: Principal,
  id: string,
): Promise<SessionStub | null> {
  const { env } = context;
  if (context.get("knownSession") !== id && !(await isListed(context, caller.tenant, id)))
    return null;
  context.set("knownSession", id);
  return env.session(caller, id);
}

async function isListed({ env }: Call, tenant: string, id: string): Promise<boolean> {
  try {
    return await env.stored.index.has(tenant, id);
  } catch (error) {
    logError("the index of sessions does not answer; the session itself is asked", error);
    return true;
  }
}
