import { sleep } from "../../async/sleep";
import { UploadRefusal } from "../../uploads/refusals";
import { MEMORY_LIMITS, type MemoryBudget, type Reservation } from "../../uploads/memory-budget";
import { ApiError } from "../errors";

/** Maximum wait of an upload for memory, and the interval of its checks. */
const MOST_WAIT_MS = 20_000;
const POLL_MS = 100;
const RETRY_AFTER_SECONDS = 5;

/** Maximum wait of a running upload for more memory. */
const MOST_GROWING_MS = 5_000;

/**
 * An upload that needs `bytes` of memory. `signal`: aborted with its client; releases the memory.
 */
type MemoryRequest = { tenant: string; bytes: number; signal: AbortSignal };

/** Reports of a running upload. Methods except `onWait` throw `UploadRefusal` if it must stop. */
export type Progress = {
  /** Some work on the upload is done. */
  advances(): void;
  /** The service starts to wait for bytes of the body. */
  onWait(): void;
  /** `bytes` more of the body have arrived. */
  onBytes(bytes: number): void;
  /**
   * The upload now needs `bytes` of memory. Throws `uploads_busy` if they do not become free soon.
   */
  holds(bytes: number): Promise<void>;
};

/**
 * Runs `work` once there is memory for it. Throws `uploads_busy` if the wait or the queue is too
 * long.
 */
export async function withMemory<T>(
  memory: MemoryBudget,
  { tenant, bytes, signal }: MemoryRequest,
  work: (progress: Progress) => Promise<T>,
): Promise<T> {
  const reservation = memory.enqueue(tenant, bytes, Date.now());
  if (reservation === null) throw busy();
  const release = () => memory.release(reservation);
  signal.addEventListener("abort", release);
  try {
    await untilAdmitted(memory, reservation, signal);
    return await work(progressOf(memory, reservation));
  } finally {
    signal.removeEventListener("abort", release);
    release();
  }
}

function progressOf(memory: MemoryBudget, reservation: Reservation): Progress {
  const orStop = (isAdmitted: boolean): void => {
    if (!isAdmitted) throw tooSlow();
  };
  return {
    advances: () => orStop(memory.reportProgress(reservation, Date.now())),
    onWait: () => memory.startWait(reservation, Date.now()),
    onBytes: (bytes) => orStop(memory.receive(reservation, bytes, Date.now())),
    async holds(bytes) {
      const late = Date.now() + MOST_GROWING_MS;
      while (!memory.grow(reservation, bytes, Date.now())) {
        orStop(memory.reportProgress(reservation, Date.now()));
        if (Date.now() >= late) throw busy();
        await sleep(POLL_MS);
      }
    },
  };
}

/** Polls, because the platform can end a running upload without a callback. */
async function untilAdmitted(
  memory: MemoryBudget,
  reservation: Reservation,
  signal: AbortSignal,
): Promise<void> {
  const late = Date.now() + MOST_WAIT_MS;
  while (!memory.tryStart(reservation, Date.now())) {
    if (signal.aborted)
      throw new ApiError("upload_broken", "The client disconnected before its upload was read.");
    if (Date.now() >= late) throw busy();
    await sleep(POLL_MS);
  }
}

const busy = (): ApiError =>
  new ApiError("uploads_busy", "Too many uploads are in progress. Nothing was changed. Retry.", {
    headers: { "retry-after": String(RETRY_AFTER_SECONDS) },
  });

function tooSlow(): UploadRefusal {
  const { leastBytesPerSecond, stillMs, longestMs } = MEMORY_LIMITS;
  const why = `slower than ${leastBytesPerSecond / 1_000} kB per second, stalled for ${stillMs / 1_000} seconds, or took more than ${longestMs / 60_000} minutes`;
  return new UploadRefusal(
    "upload_broken",
    `The upload was ${why}. Nothing was changed. Retry; send a large upload as a manifest and blobs.`,
  );
}
