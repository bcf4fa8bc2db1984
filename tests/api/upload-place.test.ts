import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { inRoom } from "../../src/api/upload-place";
import { UploadRoom } from "../../src/contexts/upload-room";

const BYTES = 80_000_000;
const never = new AbortController().signal;
const hangs = () => new Promise<never>(() => undefined);
const failure = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

describe("an upload that finds no room", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("begins when another has ended, also by failing", async () => {
    const room = new UploadRoom();
    const fails = Promise.withResolvers<never>();
    const first = failure(inRoom(room, { bytes: BYTES, signal: never }, () => fails.promise));
    const second = inRoom(room, { bytes: BYTES, signal: never }, async () => "done");
    await vi.advanceTimersByTimeAsync(10_000);
    fails.reject(new Error("broken"));
    await vi.advanceTimersByTimeAsync(200);
    expect([await first, await second]).toEqual([new Error("broken"), "done"]);
  });

  it("is asked to come again after 20 seconds, and leaves its place in the queue", async () => {
    const room = new UploadRoom();
    const holder = inRoom(room, { bytes: BYTES, signal: never }, async (goesOn) => {
      for (let at = 0; at < 30; at += 1) {
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        goesOn();
      }
      return "held";
    });
    const late = failure(inRoom(room, { bytes: 1, signal: never }, hangs));
    await vi.advanceTimersByTimeAsync(19_900);
    const next = inRoom(room, { bytes: BYTES, signal: never }, async () => "next");
    await vi.advanceTimersByTimeAsync(200);
    expect(await late).toMatchObject({ code: "uploads_busy", more: { headers: { "retry-after": "5" } } });
    await vi.advanceTimersByTimeAsync(11_000);
    expect([await holder, await next]).toEqual(["held", "next"]);
  });

  it("is turned away at once where 32 wait", async () => {
    const room = new UploadRoom();
    const all = Array.from({ length: 33 }, () => failure(inRoom(room, { bytes: BYTES, signal: never }, hangs)));
    await expect(inRoom(room, { bytes: 1, signal: never }, hangs)).rejects.toMatchObject({ code: "uploads_busy" });
    await vi.advanceTimersByTimeAsync(21_000);
    expect((await Promise.all(all.slice(1))).map((error) => Object(error).code)).toEqual(Array(32).fill("uploads_busy"));
  });

  it("waits no longer once its client has gone", async () => {
    const room = new UploadRoom();
    void inRoom(room, { bytes: BYTES, signal: never }, hangs);
    const client = new AbortController();
    const waiting = failure(inRoom(room, { bytes: 1, signal: client.signal }, hangs));
    await vi.advanceTimersByTimeAsync(1_000);
    client.abort();
    await vi.advanceTimersByTimeAsync(100);
    expect(await waiting).toMatchObject({ code: "upload_broken" });
  });

  it("begins once the client of another has gone, and that one must stop", async () => {
    const room = new UploadRoom();
    const client = new AbortController();
    const wakes = Promise.withResolvers<void>();
    const left = failure(
      inRoom(room, { bytes: BYTES, signal: client.signal }, async (goesOn) => {
        await wakes.promise;
        goesOn();
      }),
    );
    const next = inRoom(room, { bytes: BYTES, signal: never }, async () => "next");
    client.abort();
    await vi.advanceTimersByTimeAsync(200);
    wakes.resolve();
    expect([await next, await left]).toMatchObject(["next", { code: "upload_broken" }]);
  });

  it("begins a minute after one of which nothing came, and that one must stop", async () => {
    const room = new UploadRoom();
    const wakes = Promise.withResolvers<void>();
    const still = failure(
      inRoom(room, { bytes: BYTES, signal: never }, async (goesOn) => {
        await wakes.promise;
        goesOn();
      }),
    );
    await vi.advanceTimersByTimeAsync(45_000);
    const next = inRoom(room, { bytes: BYTES, signal: never }, async () => "next");
    await vi.advanceTimersByTimeAsync(16_000);
    wakes.resolve();
    expect([await next, await still]).toMatchObject(["next", { code: "upload_broken" }]);
  });
});
