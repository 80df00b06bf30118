import { streamCases } from '../shared/stream-cases.ts';
import mqtt from './vendor.ts';

export default streamCases(mqtt, 'topic', 'firsthand/events');
