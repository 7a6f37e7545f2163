/*
 * The protocol of the updates' store: who may make an app take what, whatever is cut off in between.
 *
 * One publisher signs versions 1 to 3 in order; 2 withdraws a pin that was stolen. The network serves any version
 * that was ever signed, or nothing (replay, freeze). The app adopts by writing the payload, then the floor; both are
 * atomic, and it may be ended before, between and after them. The disk may lose the payload. A release with other
 * keys may come, whose publisher begins again at version 1; a thief of the old keys signs HIGHEST.
 *
 * What must hold is asserted where it could break:
 *   1. within a process, and from one to the next, the policy in force never goes back, unless the payload was lost
 *      or a release with other keys came;
 *   2. what was once in force under these keys is never taken again after something newer, the lost payload included;
 *   3. what the thief signed with the old keys binds nobody after the release with new ones.
 *
 * Compile-time mutations show that the assertions find what they are for:
 *   -DFLOOR_FIRST  the floor is written before the payload      -> 1 breaks at a crash between the two
 *   -DNO_FLOOR     no floor is kept, the payload alone counts   -> 2 breaks at a lost payload
 *   -DNO_KEY_SET   the floor is kept without the key set's id   -> 3 breaks at a release
 *   -DFALL_BACK    an update that has expired is dropped        -> 1 breaks at a freeze
 */
#define NONE 0
#define HIGHEST 7 /* stands for 2^53 - 1 */
#define OLD 0
#define NEW 1

byte signed_old = 1; /* the highest version that the publisher has signed with the old keys */
byte signed_new = 0; /* with the new ones */
bool stolen = false; /* the thief has the old keys */

/* The disk, which outlives the process. */
byte payload_version = NONE;
bit payload_keys = OLD;
byte floor_version = NONE;
bit floor_keys = OLD;

/* The app. */
bit keys = OLD; /* which ones this release trusts */
byte in_force = NONE; /* in this process; NONE is the bundled policy */
byte newest = NONE; /* ghost: the highest that was ever in force under these keys */
bool forgiven = false; /* ghost: since then the payload was lost, or the keys changed */

inline put_in_force(version) {
    assert(version >= newest || forgiven); /* 1 */
    in_force = version;
    if
    :: version > newest -> newest = version; forgiven = false
    :: else -> skip
    fi
}

inline write_payload(version) {
    payload_version = version;
    payload_keys = keys
}

inline write_floor(version) {
#ifndef NO_FLOOR
    floor_version = version;
    floor_keys = keys
#else
    skip
#endif
}

active proctype publisher() {
    do
    :: signed_old < 3 -> signed_old++
    :: signed_old == 3 && signed_new < 3 -> signed_new++
    :: !stolen -> stolen = true
    :: true -> break
    od
}

active proctype app() {
    byte fetched;
    byte losses = 0;
start:
    /* Load. A floor that was reached under other keys means nothing. */
    in_force = NONE;
#ifndef NO_KEY_SET
    if
    :: floor_keys != keys -> floor_version = NONE
    :: else -> skip
    fi;
#endif
    if
    :: payload_version != NONE && payload_keys == keys && payload_version >= floor_version ->
        /* The floor may lag behind by one crash: it is written before the payload is in force. */
        write_floor(payload_version);
        if
        :: true -> goto start
        :: true -> skip
        fi;
        put_in_force(payload_version)
    :: else -> put_in_force(NONE)
    fi;
    do
    :: true ->
        /* Fetch: the network chooses among all that was signed with keys that are trusted, or serves nothing. */
        if
        :: keys == OLD -> select(fetched : 1 .. 3); if :: fetched > signed_old -> fetched = NONE :: else -> skip fi
        :: keys == OLD && stolen -> fetched = HIGHEST
        :: keys == NEW -> select(fetched : 1 .. 3); if :: fetched > signed_new -> fetched = NONE :: else -> skip fi
        :: true -> fetched = NONE
        fi;
        if
        :: fetched > in_force && fetched > floor_version ->
            assert(fetched >= newest); /* 2 */
            if :: true -> goto start :: true -> skip fi;
#ifdef FLOOR_FIRST
            write_floor(fetched);
            if :: true -> goto start :: true -> skip fi;
            write_payload(fetched);
#else
            write_payload(fetched);
            if :: true -> goto start :: true -> skip fi;
            write_floor(fetched);
#endif
            if :: true -> goto start :: true -> skip fi;
            put_in_force(fetched)
        :: else -> skip
        fi
#ifdef FALL_BACK
    :: true -> put_in_force(NONE) /* what is in force has expired, and nothing newer came */
#endif
    :: true -> goto start /* the process ends, and starts again */
    :: losses < 2 && payload_version != NONE -> /* the disk loses the payload while the process is down */
        losses++;
        payload_version = NONE;
        forgiven = true;
        goto start
    :: keys == OLD -> /* a release with other keys */
        keys = NEW;
        newest = NONE;
        forgiven = true;
        goto released
    :: true -> break
    od;
    goto end;
released:
#ifndef NO_KEY_SET
    if
    :: floor_keys != keys -> floor_version = NONE
    :: else -> skip
    fi;
#endif
    /* 3: nothing that was signed with the old keys stands above what the new ones will sign. */
    assert(floor_version == NONE);
    goto start;
end:
    skip
}
