import { streamCases } from '../shared/stream-cases.ts';
import redis from './vendor.ts';

export default streamCases(redis, 'stream', 'firsthand:events');
