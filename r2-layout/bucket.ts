/** The platform's bucket, under the one name that the rest of the code may use for it. */
export type Bucket = R2Bucket;
