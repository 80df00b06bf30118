import { streamCases } from '../shared/stream-cases.ts';
import rabbitmq from './vendor.ts';

export default streamCases(rabbitmq, 'routing_key', 'events');
