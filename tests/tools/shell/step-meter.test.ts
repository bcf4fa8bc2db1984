import { describe, expect, it } from "vitest";
import { StepMeter } from "../../../src/tools/shell/step-meter";

const LIMITS = {
  steps: 100,
  readBytes: 1_000,
  writtenBytes: 1_000,
  timeoutMs: 5_000,
  waitMs: 60_000,
};
const meterAt = (clock: { at: number }) => new StepMeter(LIMITS, () => clock.at);

describe("StepMeter", () => {
  it("stops by steps if the clock does not advance", () => {
    const meter = meterAt({ at: 7 });
    for (let step = 0; step < 100; step++) meter.hit("bash:cmd");
    expect(meter.stopped).toBeNull();
    meter.hit("bash:cmd");
    expect(meter.stopped).toBe("it took more than 100 steps");
    expect(meter.signal.aborted).toBe(true);
  });

  it("stops by time before the steps are used up", () => {
    const clock = { at: 0 };
    const meter = meterAt(clock);
    clock.at = 5_001;
    for (let step = 0; step < 32; step++) meter.hit("bash:cmd");
    expect(meter.stopped).toBe("it took longer than 5 s");
  });

  it("checks the clock at each file that is read", () => {
    const clock = { at: 0 };
    const meter = meterAt(clock);
    clock.at = 5_001;
    meter.read(1);
    expect(meter.stopped).toBe("it took longer than 5 s");
  });

  it("excludes the time of waiting for files", async () => {
    const clock = { at: 0 };
    const meter = meterAt(clock);
    const waits = (ms: number) => meter.waiting(async () => (clock.at += ms));
    await waits(50_000);
    clock.at += 5_000;
    meter.read(1);
    expect(meter.stopped).toBeNull();
    await waits(10_001);
    expect(meter.stopped).toBe("it waited longer than 60 s for files");
  });

  it("stops a command that reads too much", () => {
    const meter = meterAt({ at: 0 });
    meter.read(1_000);
    expect(meter.stopped).toBeNull();
    meter.read(1);
    expect(meter.stopped).toBe("it read more than 1000 bytes of files");
  });

  it("stops a command that writes too much, before the write", () => {
    const meter = meterAt({ at: 0 });
    meter.writes(1_000);
    expect(meter.stopped).toBeNull();
    expect(() => meter.writes(1)).toThrow("stopped: it wrote more than 1000 bytes to files");
    expect(() => meter.writes(0)).toThrow("stopped");
  });

  it("throws inside commands, which would not end otherwise, and lets the shell itself end in order", () => {
    const meter = meterAt({ at: 0 });
    meter.stop("enough");
    expect(() => meter.hit("bash:cmd:While")).not.toThrow();
    expect(() => meter.hit("awk:stmt:for")).toThrow("stopped: enough");
  });

  it("keeps the first reason", () => {
    const meter = meterAt({ at: 0 });
    meter.stop("first");
    meter.stop("second");
    expect(meter.stopped).toBe("first");
  });
});
