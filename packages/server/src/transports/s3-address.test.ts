import { expect, test } from 'vitest';
import { bucketAddress } from './s3-address.ts';

test.each([
  ['events', undefined, 'https://events.s3.eu-central-1.amazonaws.com'],
  ['events.example.com', undefined, 'https://s3.eu-central-1.amazonaws.com/events.example.com'],
  ['events', 'https://minio.example.com/', 'https://minio.example.com/events'],
])('bucket %s, endpoint %s', (bucket, endpoint, address) => {
  expect(bucketAddress(bucket, 'eu-central-1', endpoint)).toBe(address);
});
