import { streamCases } from '../shared/stream-cases.ts';
import kafka from './vendor.ts';

export default streamCases(kafka, 'topic', 'events');
