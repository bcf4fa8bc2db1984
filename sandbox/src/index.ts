import { Sandbox as PublishedSandbox } from "@cloudflare/sandbox";

/**
 * The class that the service binds as `SANDBOX`. Its containers reach no network: set `enableInternet` to true to give them one, and
 * leave the service's SANDBOX_NETWORK empty then.
 */
export class Sandbox extends PublishedSandbox {
  override enableInternet = false;
}

/** Nothing here is for the public: the service calls the class itself. */
const worker = {
  fetch: () => new Response("There is nothing at this address.\n", { status: 404 }),
};
export default worker;
