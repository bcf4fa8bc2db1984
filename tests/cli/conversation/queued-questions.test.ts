import { describe, expect, it } from "vitest";
import * as b from "../../protocol/builders";
import { problem, type ServiceOptions } from "../service";
import { secondTurn, startConversation, turnsPath } from "./terminal-user";

const END = b.story.at(-1) ?? b.cancelled(null);
const running = b.log(b.story.slice(0, -1));
const ID = "queued_0000000001";
const queuePath = `/api/sessions/${b.SESSION}/queue`;

const queuedResponse = {
  status: 202,
  body: {
    ...{ session_id: b.SESSION, status: "queued", queued: { id: ID, position: 1 } },
    links: { session: "", queue: "", queued: "" },
  },
};
const queueOf = (members: object) => ({
  status: 200,
  body: { session_id: b.SESSION, held: null, waiting: null, data: [], ...members },
});
const ENTRY = { id: ID, position: 1, question_preview: "and then?", interrupts: false };

/** A conversation in a terminal that shows the running turn, after its first question. */
async function asking(answers: NonNullable<ServiceOptions["answers"]>) {
  const stage = await startConversation({ events: running, answers }, {}, "xterm");
  await stage.user.typeAtPrompt("why?\r", 1);
  await stage.user.waitForText("presentation");
  const { service } = stage;
  const posts = () =>
    service.requests
      .filter(({ method, path }) => method === "POST" && path !== "/api/runs")
      .map(({ path, body }) => [path, JSON.parse(body)]);
  return { ...stage, posts };
}

describe("a question that is typed while a turn runs", () => {
  it("is queued, and its turn is followed after the running one", async () => {
    await using stage = await asking({
      ...{ [turnsPath]: queuedResponse, [queuePath]: queueOf({}) },
      [`${queuePath}/${ID}`]: {
        status: 200,
        body: { session_id: b.SESSION, id: ID, position: null, turn: 1 },
      },
    });
    const { user, service, posts } = stage;
    user.stdin.write("and then?\r");
    await user.waitForText(() => posts().length === 1);
    service.push(END);
    await user.waitForText("\n> and then?\n");
    await user.typeAtPrompt("/quit\r", 2);
    expect([await user.exitCode(), user.stdout]).toEqual([0, "Use quicksort.\nUse quicksort.\n"]);
    expect(posts()).toEqual([[turnsPath, { question: "and then?", on_busy: "queue" }]]);
  });

  it("is asked again by /conflicts if conflicts refused its turn", async () => {
    const answers: NonNullable<ServiceOptions["answers"]> = {
      ...{ [turnsPath]: queuedResponse, [queuePath]: queueOf({}) },
      [`${queuePath}/${ID}`]: {
        status: 200,
        body: { session_id: b.SESSION, id: ID, position: null, turn: 1 },
      },
    };
    await using stage = await asking(answers);
    const { user, service, posts } = stage;
    user.stdin.write("and then?\r");
    await user.waitForText(() => posts().length === 1);
    service.push(b.refusedByConflicts);
    await user.waitForText("To keep the pushed files:  /conflicts upload\n");
    answers[turnsPath] = secondTurn;
    await user.typeAtPrompt("/conflicts upload\r", 2);
    await user.typeAtPrompt("/quit\r", 3);
    await user.exitCode();
    expect(posts()[1]).toEqual([
      turnsPath,
      { repeat_turn: 1, context_conflicts: "upload", on_busy: "queue" },
    ]);
  });

  it("is in the next prompt if Enter was not pressed", async () => {
    await using stage = await asking({ [turnsPath]: secondTurn });
    const { user, service, posts } = stage;
    user.stdin.write("half a quest");
    await user.waitForText("> half a quest▏");
    service.push(END);
    await user.typeAtPrompt("ion\r", 2);
    await user.typeAtPrompt("/quit\r", 3);
    await user.exitCode();
    expect(posts()).toEqual([[turnsPath, { question: "half a question", on_busy: "queue" }]]);
  });

  it("is in the next prompt if the service refuses it", async () => {
    const full = problem(409, { title: "queue full", detail: "Ten wait.", code: "queue_full" });
    await using stage = await asking({ [turnsPath]: full });
    const { user, service, posts } = stage;
    user.stdin.write("and then?\r");
    await user.waitForText("Ten wait.");
    service.push(END);
    await user.typeAtPrompt("\x03", 2);
    await user.waitForText("^C");
    user.stdin.write("\x04");
    await user.exitCode();
    expect(posts()).toHaveLength(1);
    expect(user.screenText.split("and then?").length).toBeGreaterThan(2);
  });

  it("waits in a held queue, from which it can be removed", async () => {
    const held = { code: "turn_failed", message: "A turn failed." };
    await using stage = await asking({
      ...{ [turnsPath]: queuedResponse, [queuePath]: queueOf({ held, data: [ENTRY] }) },
      [`${queuePath}/${ID}`]: { status: 200, body: {} },
    });
    const { user, service } = stage;
    user.stdin.write("and then?\r");
    await user.waitForText(() => service.requests.some(({ path }) => path === turnsPath));
    service.push(END);
    await user.waitForText("A turn failed. To resume:\n  /queue resume");
    await user.typeAtPrompt("/queue\r", 2);
    await user.waitForText("queued  1  and then?\nheld     A turn failed.");
    await user.typeAtPrompt("/queue remove 1\r", 3);
    await user.waitForText("Removed: and then?");
    await user.typeAtPrompt("/quit\r", 4);
    await user.exitCode();
    expect(service.requests).toContainEqual(
      expect.objectContaining({ method: "DELETE", path: `${queuePath}/${ID}` }),
    );
  });

  it("interrupts the running turn with /interrupt", async () => {
    await using stage = await asking({ [turnsPath]: queuedResponse, [queuePath]: queueOf({}) });
    const { user, posts } = stage;
    user.stdin.write("/interrupt Stop that\r");
    await user.waitForText(() => posts().length === 1);
    expect(posts()).toEqual([[turnsPath, { question: "Stop that", on_busy: "interrupt" }]]);
    stage.service.push(END);
    await user.typeAtPrompt("/quit\r", 2);
    await user.exitCode();
  });

  it("is no question if it is another command: those run in order when the turn has ended", async () => {
    await using stage = await asking({});
    const { user, service, posts } = stage;
    user.stdin.write("/continue-from x\r");
    await user.waitForText("/continue-from x runs when the turns have ended.");
    user.stdin.write("/retry x\r");
    await user.waitForText("/retry x runs when");
    user.stdin.write("/quit\r");
    await user.waitForText("/quit runs when");
    expect(posts()).toEqual([]);
    service.push(END);
    await user.exitCode();
    expect(user.screenText).toMatch(
      /> \/continue-from x\nTurns are numbers from 1: \/continue-from 2\n\n> \/retry x\nTurns are numbers from 1: \/retry 2\n\n> \/quit/,
    );
    expect(posts()).toEqual([]);
  });
});
