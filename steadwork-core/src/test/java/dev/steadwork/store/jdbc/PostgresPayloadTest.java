package dev.steadwork.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.Payload;
import dev.steadwork.RunStatus;
import dev.steadwork.store.ClaimedRun;
import dev.steadwork.store.RunEnd;
import dev.steadwork.store.Write;
import dev.steadwork.testing.Proves;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Payloads travel in arrays of many: none may look like its neighbour, like NULL, or like text. */
class PostgresPayloadTest extends PostgresFixture {
    private static final List<Payload> PAYLOADS = List.of(
            new Payload(everyByte(), Payload.BYTES),
            Payload.NONE,
            new Payload(new byte[0], Payload.BYTES),
            new Payload(new byte[0], Payload.JSON),
            new Payload("null".getBytes(StandardCharsets.UTF_8), Payload.JSON),
            new Payload("{\"a\\\\\": \"\\u0000,{}NULL\"}".getBytes(StandardCharsets.UTF_8), Payload.JSON),
            new Payload("\\x00".getBytes(StandardCharsets.UTF_8), "text/plain"),
            new Payload(random(500_000), Payload.BYTES));

    @Test
    @Proves({"DATA-1", "V6"})
    void inputs_outputs_and_results_of_steps_come_back_byte_by_byte() {
        var newRuns = PAYLOADS.stream().map(input -> newRun(TYPE, null, input)).toList();
        // Again and again: the driver changes to a binary protocol after a while.
        for (int round = 0; round < 12; round++) {
            if (round == 0) {
                store.triggerAll(newRuns);
            } else {
                newRuns = PAYLOADS.stream()
                        .map(input -> newRun(TYPE, null, input))
                        .toList();
                store.write(newRuns.stream().map(Write.Trigger::new).toList());
            }
            var held = claim(PAYLOADS.size(), LEASE);
            assertThat(held).extracting(ClaimedRun::input).containsExactlyElementsOf(PAYLOADS);

            store.write(steps(held));
            store.write(held.stream()
                    .map(run -> new Write.Release(run.id(), run.epoch()))
                    .toList());
            var again = claim(PAYLOADS.size(), LEASE);
            assertThat(again)
                    .extracting(run -> run.steps().get(0).output())
                    .containsExactlyInAnyOrderElementsOf(PAYLOADS);

            store.write(finishes(again));
            assertThat(store.ends(again.stream().map(ClaimedRun::id).toList()))
                    .extracting(RunEnd::output)
                    .containsExactlyInAnyOrderElementsOf(PAYLOADS);
        }
    }

    private static List<Write.SaveStep> steps(List<ClaimedRun> held) {
        return IntStream.range(0, held.size())
                .mapToObj(i -> step(held.get(i), "echo", 1, PAYLOADS.get(i)))
                .toList();
    }

    private static List<Write.Finish> finishes(List<ClaimedRun> held) {
        return IntStream.range(0, held.size())
                .mapToObj(i -> new Write.Finish(
                        held.get(i).id(), held.get(i).epoch(), RunStatus.COMPLETED, PAYLOADS.get(i), null, null))
                .toList();
    }

    private static byte[] everyByte() {
        var bytes = new byte[256];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) i;
        }
        return bytes;
    }

    private static byte[] random(int size) {
        var bytes = new byte[size];
        new Random(1).nextBytes(bytes);
        return bytes;
    }
}
