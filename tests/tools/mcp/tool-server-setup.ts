import type { TestProject } from "vitest/node";
import { askingServer } from "./asking-server";
import { modernServer } from "./modern-server";

/** Tool servers for tests in workerd, over real sockets. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await modernServer({ legacy: true });
  const asking = await askingServer();
  project.provide("toolServerUrl", server.url);
  project.provide("askingServerUrl", asking.url);
  return async () => {
    await Promise.all([server.close(), asking.close()]);
  };
}
