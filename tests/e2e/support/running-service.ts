import { afterAll, beforeAll } from "vitest";
import { ServiceProcess } from "../../../simulated/service/service-process";
import type { Script } from "../../../simulated/providers/reply";
import {
  type SimulatedProviders,
  startSimulatedProviders,
} from "../../../simulated/providers/server";
import { LOCAL } from "./local";
import { ServiceClient } from "./service-client";

/** The service in the real runtime, its providers, and a client. They run during a file's tests. */
type RunningService = {
  readonly service: ServiceProcess;
  readonly providers: SimulatedProviders;
  readonly client: ServiceClient;
};

/**
 * Call it once per test file, outside of the tests. `variables`: additional variables of the
 * service.
 */
export function runningService(
  models: Readonly<Record<string, Script>>,
  variables: Readonly<Record<string, string>> = {},
): RunningService {
  let service: ServiceProcess | undefined;
  let providers: SimulatedProviders | undefined;
  let client: ServiceClient | undefined;
  beforeAll(async () => {
    providers = await startSimulatedProviders({ models });
    service = await ServiceProcess.prepare({ ...LOCAL, ...variables });
    await service.start();
    client = new ServiceClient(service.url);
  });
  afterAll(async () => {
    await service?.stop();
    await providers?.close();
  });
  return {
    get service() {
      return running(service);
    },
    get providers() {
      return running(providers);
    },
    get client() {
      return running(client);
    },
  };
}

function running<T>(part: T | undefined): T {
  if (part === undefined) throw new Error("The service runs only during the tests.");
  return part;
}
