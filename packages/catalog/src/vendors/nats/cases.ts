import { streamCases } from '../shared/stream-cases.ts';
import nats from './vendor.ts';

export default streamCases(nats, 'subject', 'firsthand.events');
