/**
 * The address of a bucket. The wildcard certificate of the virtual hosts covers no dots, and compatible stores may have no virtual hosts:
 * both get the bucket as a folder.
 */
export function bucketAddress(bucket: string, region: string, endpoint?: string): string {
  if (endpoint) return `${endpoint.replace(/(?<!\/)\/+$/, '')}/${bucket}`;
  return bucket.includes('.') ? `https://s3.${region}.amazonaws.com/${bucket}` : `https://${bucket}.s3.${region}.amazonaws.com`;
}
