import { Sandbox as PublishedSandbox } from "@cloudflare/sandbox";

/**
 * The class that the service binds as `SANDBOX`. Its containers have no network. To give them one,
 * set `enableInternet` to true and leave the service's SANDBOX_NETWORK empty.
 */
export class Sandbox extends PublishedSandbox {
  override enableInternet = false;
}

/** This Worker has no public routes: the service calls the class directly. */
const worker = {
  fetch: () => new Response("Not found: no such route.\n", { status: 404 }),
};
export default worker;
