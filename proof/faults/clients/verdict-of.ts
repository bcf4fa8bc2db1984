import { ServiceClient } from "../../../tests/e2e/support/service-client";
import { judge } from "../../../tests/e2e/support/verdict";
import { Watcher } from "../../../tests/e2e/support/watcher";
import type { RecordedRequest } from "../../../simulated/providers/ledger";
import { waitForClosedRequests, concurrencyProblems } from "../runs/judge";
import type { World } from "./world";
import { sessionPath } from "../../../src/protocol/paths";

/**
 * Problems of a session whose only turn must have completed, in sentences. Reads the session's
 * whole log again. Checks this log against the session's status and the requests that reached its
 * providers.
 */
export async function verdictOf(
  session: string,
  { service: { url }, evidence }: Pick<World, "service" | "evidence">,
  requests: () => readonly RecordedRequest[],
): Promise<string[]> {
  const log = new Watcher(`${url}${sessionPath(session)}/events`);
  evidence.add("log.sse", () => log.bytes);
  evidence.addRequests("requests.json", requests);
  await log.ended;
  await waitForClosedRequests({ requests });
  const status = await new ServiceClient(url).status(session);
  evidence.addJson("status.json", () => status);
  return [
    ...judge({ frames: log.frames, status, requests: requests() }),
    ...concurrencyProblems(requests()),
  ];
}
