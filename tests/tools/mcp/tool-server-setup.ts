import type { TestProject } from "vitest/node";
import { modernServer } from "./modern-server";

/** A tool server for tests in workerd, over a real socket. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await modernServer({ legacy: true });
  project.provide("toolServerUrl", server.url);
  return () => server.close();
}
