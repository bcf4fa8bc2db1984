import { Buffer } from "node:buffer";
import { abortAllDurableObjects } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { sha256 } from "../../../local/sha256";
import { attachmentKey, sessionPrefix } from "../../../r2-layout/session-files";
import type { WireEvent } from "../../../src/protocol/events";
import { ATTACHMENT_LIMITS } from "../../../src/protocol/attachments";
import { LOCAL_TENANT } from "../../../src/tenancy/principal";
import {
  follow,
  post,
  request,
  type Run,
  start,
  teamOf,
} from "../../durable-objects/session/session-client";
import { askWith, makeKey } from "../keyed-client";
import {
  base64,
  file,
  GIF,
  image,
  MP3,
  PDF,
  PNG,
  teamOfAllFormats,
  text,
  wav,
} from "./attachments";

// Images and files of a question: from the request to the API up to the requests that the
// simulated providers receive.

const answersOf = (events: readonly WireEvent[]): Record<string, string> =>
  Object.fromEntries(
    events.flatMap((event) =>
      event.type === "answer.submitted" ? [[event.agent, event.content]] : [],
    ),
  );

const storedFilesOf = async ({ session_id }: Run): Promise<string[]> => {
  const prefix = `${sessionPrefix(LOCAL_TENANT, session_id)}attachments/`;
  const { objects } = await env.BUCKET.list({ prefix });
  return objects.map(({ key }) => key.slice(prefix.length));
};

const shortHash = (bytes: Uint8Array): string => sha256(bytes).slice(0, 12);

const startNextTurn = async ({ session_id }: Run, question: unknown): Promise<Run> => {
  const response = await post(`/api/sessions/${session_id}/turns`, { question });
  if (response.status !== 202) throw new Error(await response.text());
  return response.json();
};

describe("an attachment of a question", () => {
  it("reaches every wire format: an image, a PDF and a text file", async () => {
    const question = [
      text("What do you see?"),
      image(PNG, "photo.png"),
      file(PDF, "report.pdf"),
      file(new TextEncoder().encode("name,count\nash,7\n"), "trees.csv"),
    ];
    const run = await start(teamOfAllFormats("looker"), { question });
    const { events, text: stream } = await follow(run);
    expect(events.at(-1)).toMatchObject({ type: "turn.completed" });
    const answers = answersOf(events);
    const table = "trees.csv:\n\nname,count\nash,7\n";
    const [png, pdf] = [`image/png ${shortHash(PNG)}`, shortHash(PDF)];
    expect(answers).toEqual({
      chat: `What came: ${png} | application/pdf report.pdf ${pdf} | ${table}`,
      responses: `What came: ${png} | application/pdf report.pdf ${pdf} | ${table}`,
      messages: `What came: ${png} | application/pdf report.pdf ${pdf} | ${table}`,
      gemini: `What came: ${png} | application/pdf ${pdf} | ${table}`,
    });
    expect(stream).not.toContain(base64(PNG).slice(0, 40));
  });

  it("reaches the wire formats that support audio, as WAV and MP3", async () => {
    const { agents } = teamOfAllFormats("gemini-looker");
    const audioTeam = { agents: agents.filter(({ id }) => id === "chat" || id === "gemini") };
    const question = [text("What is said?"), file(wav(), "said.wav"), file(MP3, "sung.mp3")];
    const { events } = await follow(await start(audioTeam, { question }));
    const answer = `What came: audio/wav ${shortHash(wav())} | audio/mp3 ${shortHash(MP3)}`;
    expect(answersOf(events)).toEqual({ chat: answer, gemini: answer });
    expect(events.find(({ type }) => type === "turn.started")).toMatchObject({
      attachments: [
        { kind: "audio", name: "said.wav", media_type: "audio/wav" },
        { kind: "audio", name: "sung.mp3", media_type: "audio/mpeg" },
      ],
    });
  });

  it("is listed in the log and the turn with hash, type, name and size, and is stored in R2 by its hash", async () => {
    const run = await start(teamOf(["looker"]), {
      question: [text("What is it?"), image(PNG, "photo.png")],
    });
    const { events } = await follow(run);
    const attachment = {
      kind: "image",
      name: "photo.png",
      media_type: "image/png",
      size: PNG.byteLength,
      sha256: sha256(PNG),
    };
    expect(events.find(({ type }) => type === "turn.started")).toMatchObject({
      question: "What is it?",
      attachments: [attachment],
    });
    const turn = await request(`/api/sessions/${run.session_id}/turns/1`);
    expect(await turn.json()).toMatchObject({ question: "What is it?", attachments: [attachment] });
    expect(await storedFilesOf(run)).toEqual([sha256(PNG)]);
  });

  it("is part of the tokens that every call reserves", async () => {
    const reservedTokens = async (question: unknown) => {
      const { events } = await follow(await start(teamOf(["looker"]), { question }));
      const call = events.find((event) => event.type === "call.started");
      return call?.type === "call.started" ? call.reserved.tokens : 0;
    };
    const textTokens = await reservedTokens("What is it?");
    const imageTokens = await reservedTokens([text("What is it?"), image(PNG)]);
    expect(imageTokens - textTokens).toBeGreaterThanOrEqual(16_384);
  });

  it("reaches every wire format at the maximum size", async () => {
    const pdf = Buffer.concat([PDF, Buffer.alloc(ATTACHMENT_LIMITS.bytes - PDF.byteLength, 0x20)]);
    const { events } = await follow(
      await start(teamOfAllFormats("looker"), {
        question: [text("What is it?"), file(pdf, "a.pdf")],
      }),
    );
    expect(events.at(-1)).toMatchObject({
      type: "turn.completed",
      answer: expect.stringContaining(shortHash(pdf)),
    });
    expect(
      Object.values(answersOf(events)).filter((answer) => answer.includes(shortHash(pdf))),
    ).toHaveLength(4);
    expect(events.filter(({ type }) => type === "call.failed")).toEqual([]);
  });

  it("is also part of the presentation", async () => {
    const { events } = await follow(
      await start(teamOf(["looker"]), { question: [text("What is it?"), image(PNG)] }),
    );
    expect(events.at(-1)).toMatchObject({
      type: "turn.completed",
      answer: `What came: image/png ${shortHash(PNG)}`,
    });
  });

  it("is mentioned, but not sent again, in the next turn", async () => {
    const run = await start(teamOf(["looker"]), {
      question: [text("What is it?"), image(PNG, "photo.png")],
    });
    await follow(run);
    const { events } = await follow(await startNextTurn(run, "And now?"));
    expect(events.at(-1)).toMatchObject({
      answer: "What came: (With it came, not sent again: photo.png, image/png.)",
    });
  });

  it("may be sent again in a later turn by its hash", async () => {
    const run = await start(teamOf(["looker"]), {
      question: [text("What is it?"), image(PNG, "photo.png")],
    });
    await follow(run);
    const again = await startNextTurn(run, [
      text("And now?"),
      { type: "image", sha256: sha256(PNG) },
    ]);
    const { events } = await follow(again);
    expect(events.at(-1)).toMatchObject({
      answer: expect.stringContaining(`image/png ${shortHash(PNG)}`),
    });
  });

  it("may be sent again on a branch that does not contain the turn with its bytes", async () => {
    const run = await start(teamOf(["looker"]), { question: "What do you see?" });
    await follow(run);
    await follow(await startNextTurn(run, [text("What is it?"), image(PNG, "photo.png")]));
    const question = [text("And now?"), { type: "image", sha256: sha256(PNG) }];
    const response = await post(`/api/sessions/${run.session_id}/turns`, {
      question,
      parent_turn: 1,
    });
    const { events } = await follow(await response.json<Run>());
    const [started] = events.filter(({ type }) => type === "turn.started");
    expect(started).toMatchObject({ parent_turn: 1, attachments: [{ name: "photo.png" }] });
    expect(events.at(-1)).toMatchObject({
      answer: expect.stringContaining(`image/png ${shortHash(PNG)}`),
    });
  });

  it("is sent again after a restart during a call", async () => {
    const run = await start(teamOf(["looker", "slow"]), {
      question: [text("What is it?"), image(PNG)],
    });
    await abortAllDurableObjects();
    const { events } = await follow(run);
    expect(
      events.filter((event) => event.type === "call.failed" && event.class === "interrupted"),
    ).not.toEqual([]);
    expect(answersOf(events)["a0"]).toBe(`What came: image/png ${shortHash(PNG)}`);
    expect(events.at(-1)).toMatchObject({ type: "turn.completed" });
  });

  it("makes the agents fail with a clear message if its bytes are lost", async () => {
    const run = await start(teamOf(["looker"]), {
      question: [text("What is it?"), image(PNG, "photo.png")],
    });
    await follow(run);
    await env.BUCKET.delete(attachmentKey(LOCAL_TENANT, run.session_id, sha256(PNG)));
    const { events } = await follow(
      await startNextTurn(run, [text("And now?"), { type: "image", sha256: sha256(PNG) }]),
    );
    const message = "The contents of photo.png are lost. Attach it again.";
    expect(events.at(-1)).toMatchObject({
      type: "turn.failed",
      agents: [{ agent: "a0", code: "attachment_lost", message }],
    });
  });

  it("is erased with its session", async () => {
    const run = await start(teamOf(["looker"]), { question: [text("What is it?"), image(PNG)] });
    await follow(run);
    expect((await request(`/api/sessions/${run.session_id}`, { method: "DELETE" })).status).toBe(
      204,
    );
    expect(await storedFilesOf(run)).toEqual([]);
  });
});

describe("a file that a config names in upload_files", () => {
  const config = () => {
    const { agents } = teamOf(["looker"]) as { agents: { id: string; backend: object }[] };
    return {
      agents: agents.map((agent) => ({
        ...agent,
        backend: { ...agent.backend, upload_files: [{ image_path: "img/a.png" }] },
      })),
    };
  };

  it("is used if the question has an attachment of that name", async () => {
    const { events } = await follow(
      await start(config(), { question: [text("What is it?"), image(PNG, "img/a.png")] }),
    );
    expect(events.at(-1)).toMatchObject({ answer: `What came: image/png ${shortHash(PNG)}` });
  });

  it("is refused if the question has no such attachment; the error states how to send it", async () => {
    const response = await post("/api/runs", { question: "What is it?", config: config() });
    const problem = await response.json<{
      code: string;
      detail: string;
      errors: { need?: string }[];
    }>();
    expect([response.status, problem.code, problem.errors[0]?.need]).toEqual([
      422,
      "config_invalid",
      "upload_files",
    ]);
    expect(problem.detail).toContain("as a part of the question");
  });

  it.each([
    { attached: ["img/a.png"], runnable: true },
    { attached: ["a.png"], runnable: false },
  ])(
    "leads to `runnable: $runnable` if the config is checked with the attachments $attached",
    async ({ attached, runnable }) => {
      const response = await post("/api/configs/validate", { config: config(), attached });
      expect(await response.json()).toMatchObject({ runnable });
    },
  );
});

describe("an attachment", () => {
  const postRun = async (config: unknown, question: unknown) => {
    const response = await post("/api/runs", { config, question });
    return {
      status: response.status,
      body: await response.json<{ code: string; detail: string; errors?: unknown }>(),
    };
  };

  it("that a model does not support is refused with the agent, its model and the attachment", async () => {
    const { status, body } = await postRun(teamOf(["looker", "gpt-oss-looker"]), [
      text("What is it?"),
      image(PNG, "photo.png"),
    ]);
    expect([status, body.code]).toEqual([422, "attachment_refused"]);
    expect(body.detail).toContain(
      'agent "a1" (gpt-oss-looker) does not support "photo.png" (image/png)',
    );
    expect(body.detail).not.toContain('"a0"');
  });

  it("may be refused because of its image format", async () => {
    const { body } = await postRun(teamOfAllFormats("looker"), [
      text("What is it?"),
      image(GIF, "a.gif"),
    ]);
    expect(body.detail).toContain('agent "gemini" (looker) does not support "a.gif" (image/gif)');
    expect(body.detail).not.toContain('"messages"');
  });

  it("with audio is refused with the agents that do not support audio, and models that do", async () => {
    const { status, body } = await postRun(teamOfAllFormats("gemini-looker"), [
      text("What is said?"),
      file(wav(), "a.wav"),
    ]);
    expect([status, body.code]).toEqual([422, "attachment_refused"]);
    for (const id of ["responses", "messages"])
      expect(body.detail).toContain(
        `agent "${id}" (gemini-looker) does not support "a.wav" (audio/wav)`,
      );
    expect(body.detail).not.toContain('"chat"');
    expect(body.detail).toContain("Gemini models support audio as WAV, MP3, Ogg and FLAC");
  });

  it("that is a text file is accepted for every model", async () => {
    const question = [text("What is it?"), file(new TextEncoder().encode("ash"), "trees.txt")];
    const { events } = await follow(await start(teamOf(["gpt-oss-looker"]), { question }));
    expect(events.at(-1)).toMatchObject({ answer: "What came: trees.txt:\n\nash" });
  });

  it("is refused if no earlier turn has an attachment with its hash", async () => {
    const { status, body } = await postRun(teamOf(["looker"]), [
      text("What?"),
      { type: "image", sha256: sha256(PNG) },
    ]);
    expect([status, body.code]).toEqual([422, "attachment_not_found"]);
  });

  it("is refused if only another session of the tenant has an attachment with its hash", async () => {
    await follow(await start(teamOf(["looker"]), { question: [text("What is it?"), image(PNG)] }));
    const other = await start(teamOf(["looker"]), { question: "What is it?" });
    await follow(other);
    const question = [text("What?"), { type: "image", sha256: sha256(PNG) }];
    const response = await post(`/api/sessions/${other.session_id}/turns`, { question });
    expect([response.status, (await response.json<{ code: string }>()).code]).toEqual([
      422,
      "attachment_not_found",
    ]);
  });

  it("is refused if only another tenant has an attachment with its hash", async () => {
    const [mine, other] = [await makeKey("brings"), await makeKey("names")];
    const runToEnd = async (key: string, question: unknown): Promise<string> => {
      const started = await askWith(key, "/api/runs", {
        method: "POST",
        body: { question, config: teamOf(["looker"]) },
      });
      const { session_id } = await started.json<Run>();
      await (await askWith(key, `/api/sessions/${session_id}/turns/1/events`)).text();
      return session_id;
    };
    await runToEnd(mine.key, [text("What is it?"), image(PNG)]);
    const session = await runToEnd(other.key, "What is it?");
    const body = { question: [text("What?"), { type: "image", sha256: sha256(PNG) }] };
    const response = await askWith(other.key, `/api/sessions/${session}/turns`, {
      method: "POST",
      body,
    });
    expect([response.status, (await response.json<{ code: string }>()).code]).toEqual([
      422,
      "attachment_not_found",
    ]);
  });

  it("counts each time a question refers to it by its hash", async () => {
    const pdf = Buffer.concat([PDF, Buffer.alloc(ATTACHMENT_LIMITS.bytes - PDF.byteLength, 0x20)]);
    const run = await start(teamOf(["looker"]), {
      question: [text("What is it?"), file(pdf, "a.pdf")],
    });
    await follow(run);
    const part = { type: "file", sha256: sha256(pdf) };
    const response = await post(`/api/sessions/${run.session_id}/turns`, {
      question: [text("And now?"), part, part],
    });
    const body = await response.json<{ code: string; detail: string }>();
    expect([response.status, body.code]).toEqual([413, "attachments_too_large"]);
    expect(body.detail).toContain("at most 3000000 bytes of images and files");
  });

  it("is not stored if it is refused", async () => {
    const before = await env.BUCKET.list();
    await postRun(teamOf(["gpt-oss-looker"]), [text("What is it?"), image(PNG)]);
    expect((await env.BUCKET.list()).objects.length).toBe(before.objects.length);
  });
});
