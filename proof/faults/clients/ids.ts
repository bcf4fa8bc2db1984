import { STORY_AGENTS } from "../../../tests/e2e/support/story";
import { ServiceClient } from "../../../tests/e2e/support/service-client";
import { Watcher } from "../../../tests/e2e/support/watcher";
import { within } from "../../../simulated/service/within";
import { verdictOf } from "./verdict-of";
import type { World } from "./world";
import { eventsPath, sessionPath } from "../../../src/protocol/paths";

/** Event ids that a client may claim, and the expected reply while the turn runs. */
const IDS: readonly { name: string; id: string; status: number; code: string }[] = [
  { name: "garbage", id: "abc", status: 400, code: "bad_event_id" },
  { name: "negative", id: "-1", status: 400, code: "bad_event_id" },
  { name: "a number in another notation", id: "1e3", status: 400, code: "bad_event_id" },
  { name: "a fraction", id: "1.5", status: 400, code: "bad_event_id" },
  {
    name: "beyond the safe integers",
    id: "9007199254740992",
    status: 400,
    code: "bad_event_id",
  },
  { name: "4 kB", id: "9".repeat(4_096), status: 400, code: "bad_event_id" },
  { name: "the future", id: "1000000", status: 409, code: "event_id_ahead" },
];

/** Long enough for a whole turn: a stream from a valid id ends with the turn. */
const ANSWERED_WITHIN_MS = 60_000;

type HttpReply = { status: number; text: string };

/** Ids that match no event of the run are refused, and the run is not affected. */
export async function playStrangeIds(world: World): Promise<string[]> {
  const { service, providers, evidence } = world;
  const client = new ServiceClient(service.url);
  const before = providers.requests().length;
  const { session_id: id } = await client.start({
    baseUrl: providers.baseUrl,
    agents: STORY_AGENTS,
  });
  const full = new Watcher(`${service.url}${sessionPath(id)}/events`);
  evidence.addClients([full]);
  const url = `${service.url}${eventsPath(id, 1)}`;
  const problems: string[] = [];
  for (const { name, id: claimed, status, code } of IDS) {
    const reply = await ask(url, claimed);
    if (reply.status !== status || !reply.text.includes(`"${code}"`))
      problems.push(`${name} was answered ${reply.status} ${reply.text.slice(0, 200)}`);
  }
  await full.ended;
  const requests = () => providers.requests().slice(before); // Nothing else runs in the meantime.
  return [
    ...problems,
    ...(await otherRunProblems(url, full)),
    ...(await verdictOf(id, world, requests)),
  ];
}

/**
 * A problem if the service refuses an id that came from another run. Ids are plain numbers, so the
 * service must send the events of this run after that number.
 */
async function otherRunProblems(url: string, full: Watcher): Promise<string[]> {
  const { text } = await ask(url, "7");
  const expected = Buffer.concat(full.frames.slice(7)).toString();
  return text.endsWith(expected) && text.startsWith("retry:")
    ? []
    : ["an id of another run was not treated as a number of this run"];
}

const ask = (url: string, id: string): Promise<HttpReply> =>
  within(ANSWERED_WITHIN_MS, `the answer to the id ${id.slice(0, 20)}`, fetchFrom(url, id));

async function fetchFrom(url: string, id: string): Promise<HttpReply> {
  const response = await fetch(url, {
    headers: { accept: "text/event-stream", "last-event-id": id, connection: "close" },
  });
  return { status: response.status, text: await response.text() };
}
