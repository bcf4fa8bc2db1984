/** The platform's bucket; the only name for it in the code. */
export type Bucket = R2Bucket;
