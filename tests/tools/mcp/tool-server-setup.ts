import type { TestProject } from "vitest/node";
import { askingServer } from "./asking-server";
import { mediaServer } from "./media-server";
import { modernServer } from "./modern-server";

/** Tool servers for tests in workerd, over real sockets. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await modernServer({ legacy: true });
  const asking = await askingServer();
  const media = await mediaServer();
  project.provide("toolServerUrl", server.url);
  project.provide("askingServerUrl", asking.url);
  project.provide("mediaServerUrl", media.url);
  return async () => {
    await Promise.all([server.close(), asking.close(), media.close()]);
  };
}
