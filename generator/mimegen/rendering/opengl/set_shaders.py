"""The shader programs that draw sets and their sky, GLSL 3.30, assembled from parts."""

from typing import NamedTuple

from mimegen.rendering.opengl.far_light import FAR
from mimegen.rendering.opengl.light_shaders import FRESNEL, LAMPS, VOLUME
from mimegen.rendering.opengl.mirror import FLOOR
from mimegen.rendering.opengl.pattern_shaders import NOISE, PATTERNS, SKY
from mimegen.rendering.opengl.shaders import LIGHT

# The names of patterns; a pattern's index is its number (PATTERN) in the shaders.
PATTERN_NAMES = ("plain", "wood", "planks", "tiles", "bricks", "cloth", "speckle", "sand",
                 "stripes", "painting", "outdoors", "shore", "net", "mown")

SET_VERTEX = """\
#version 330
invariant gl_Position;
uniform mat4 to_picture;
// Nothing below this height is drawn.
uniform float lowest;
in vec3 place, normal, own, scattered;
in vec2 uv;
in float offshore;
out vec3 at, facing, inside, strewn;
out vec2 on;
out float away;
void main() {
    gl_Position = to_picture * vec4(place, 1.0);
    gl_ClipDistance[0] = place.z - lowest;
    at = place; facing = normal; inside = own; strewn = scattered; on = uv; away = offshore;
}
"""

MATERIAL = """
in vec3 at, facing, inside, strewn;
in vec2 on;
in float away;
uniform vec3 shine;
// 1 if this pixel's surface was sampled by rays (solid, seen by the camera), 0 in floors' mirrored
// picture.
uniform float looked;
uniform vec2 picture_size;
uniform float coat, glow, opacity, sheen, outdoors_share;
out vec4 result;
"""

GLOWING = """
void main() {
    float wetness;
    result = vec4(glow * patterned(wetness), covered());
}
"""

# Code that only some surfaces need is in loops that run once or not at all. Mesa's software
# rendering executes both sides of an ``if``, but skips a loop that no pixel enters.
SURFACE = """
// Range of roughness in which mirroring changes from sharp pictures to blurred surroundings.
const vec2 ROUGH = vec2(0.3, 0.6);
// The light mirrored from around a direction, without lamps: sharp on smooth surfaces, the sky
// itself under open sky. ``reach`` is the length of the mean of the lobe's unit vectors.
vec3 around(vec3 place, vec3 to, float roughness, float reach) {
    vec3 sharp = vec3(0.0), wide = vec3(0.0);
    for (int i = none; i < int(roughness < ROUGH.y); i++) {
        float clear = outdoors_share * (1.0 - smoothstep(0.15, 0.5, roughness)) * step(0.0, to.z);
        sharp = volume_mirrored(place, to, reach);
        for (int j = none; j < int(clear > 0.0); j++)
            sharp = mix(sharp, sky_above(to), clear);
    }
    for (int i = none; i < int(roughness > ROUGH.x); i++) {
        // A shorter mean belongs to a wider lobe, in which order 2 fades sooner.
        float second = clamp(2.08 * (reach - 0.52), 0.0, 1.0);
        wide = volume_light(place, to, reach, second);
    }
    return mix(sharp, wide, smoothstep(ROUGH.x, ROUGH.y, roughness));
}

// The fraction of light that fine fibres scatter, within a tenth of that measured on planes under
// an even sky in Cycles (its microfiber sheen of roughness 0.5).
float fuzz_of(float cosine) { return exp(-0.42 - cosine * (1.65 + 1.4 * cosine)); }

// The fraction of the precomputed light that remains with nearby objects.
uniform sampler2D near_shares;
uniform float looked_near;
vec3 near_share() {
    vec3 share = vec3(1.0);
    for (int i = none; i < int(looked * looked_near); i++)
        share = textureLod(near_shares, gl_FragCoord.xy / picture_size, 0.0).rgb;
    return share;
}

// Nets hide the fraction of the sun that their cords cover.
uniform sampler2DShadow net_map;
uniform float net_cover;
float past_nets(vec3 place, vec3 normal) {
    float past = 1.0;
    for (int i = none; i < int(net_cover > 0.0); i++) {
        vec4 at = to_shadow * vec4(place + shadow_lift * normal, 1.0);
        past -= net_cover * (1.0 - textureLod(net_map, 0.5 * at.xyz + 0.5, 0.0));
    }
    return past;
}

uniform sampler2D lobes;
vec4 lobe_of(vec3 normal, vec3 view, float roughness) {
    return texture(lobes, vec2(max(dot(normal, view), 0.0), roughness));
}

vec3 mirrored(vec3 place, vec3 normal, vec3 view, vec3 from_sun, float roughness, vec3 straight,
              vec4 lobe, float far_sky, vec4 low, vec4 high) {
    vec3 facing_sun = straight
        + (1.0 - straight) * grazing(dot(view, normalize(view + sun_from)));
    vec3 flat_part = normal * dot(normal, view) - view;
    float level = sqrt(max(1.0 - lobe.b * lobe.b, 0.0) / max(dot(flat_part, flat_part), 1e-6));
    vec3 all = far_sky
        * around(place, normalize(lobe.b * normal + level * flat_part), roughness, lobe.a);
#ifdef MIRRORS_FLOOR
    if (normal.z > LEAST_LEVEL && abs(at.z - floor_level) < 0.05 && roughness < ROUGH.y) {
        vec4 in_floor = floor_mirrored(at, view, roughness, SLOPES * normal.xy / normal.z);
        all = mix(all, in_floor.rgb, in_floor.w);
    }
#endif
#ifdef BY_LAMPS
    vec4 from_lamps = lamps_mirrored(place, normal, view, roughness, straight, low, high);
#else
    vec4 from_lamps = vec4(0.0);
#endif
    return facing_sun * from_sun * gloss(normal, view, sun_from, roughness) + from_lamps.rgb
        + (straight * lobe.r + lobe.g) * all * (1.0 - from_lamps.w);
}

void main() {
    vec3 normal = normalize(facing) * (gl_FrontFacing ? 1.0 : -1.0);
    float wetness;
    vec3 base = patterned(wetness);
#if PATTERN == 11
    normal = waves(smoothstep(0.6, 1.0, wetness));
#endif
    vec3 view = normalize(eye - at), before = before_surface(at, normal);
    float roughness = mix(shine.x, 0.12, wetness), metallic = shine.z;
    vec3 straight = mix(vec3(shine.y), base, metallic);
    vec4 lobe = lobe_of(normal, view, roughness);
    vec3 from_sun = vec3(0.0);
    for (int i = none; i < int(dot(normal, sun_from) > 0.0); i++)
        from_sun = sun * sunlit(at, normal) * past_nets(at, normal);
    vec2 far = vec2(1.0);
#ifdef KNOWS_FAR
    far = far_seen(at, normal);
#endif
    from_sun *= far.y;
    vec3 reaching = from_sun * max(dot(normal, sun_from), 0.0) / PI
        + volume_light(before, normal, 0.6667, 0.25) * near_share() * far.x;
    // Distant surfaces that hide the sky are assumed to have the same color and light as this one.
    reaching /= 1.0 - (1.0 - far.x) * base;
    vec4 low = vec4(0.0), high = vec4(0.0);
#ifdef BY_LAMPS
    lamps_seen(before, low, high);
    reaching += lamps_light(at, normal, low, high);
#endif
    float fuzz = sheen * fuzz_of(abs(dot(normal, view)));
    vec3 light = mix(base * (1.0 - metallic) * (1.0 - shine.y * lobe.r - lobe.g), vec3(1.0), fuzz)
        * reaching;
    // First the surface's own reflection, then that of its varnish.
    int layers = coat > 0.0 ? 2 : 1;
    for (int layer = none; layer < layers; layer++) {
        if (layer == 1) {
            roughness = 0.12;
            straight = vec3(0.04);
            lobe = lobe_of(normal, view, roughness);
            light *= 1.0 - coat * (0.04 * lobe.r + lobe.g);
        }
        light += (layer == 1 ? coat : 1.0)
            * mirrored(before, normal, view, from_sun, roughness, straight, lobe, far.x,
                        low, high);
    }
    // Half floats end near 65504: an infinite value would become NaN when it is blended with
    // others.
    result = vec4(min(light, vec3(60000.0)), opacity * covered());
}
"""


# Depths are drawn in a first pass, so that hidden surfaces are never shaded.
DEPTH_VERTEX = """\
#version 330
invariant gl_Position;
uniform mat4 to_picture;
uniform float lowest;
in vec3 place;
void main() {
    gl_Position = to_picture * vec4(place, 1.0);
    gl_ClipDistance[0] = place.z - lowest;
}
"""


class ProgramKind(NamedTuple):
    """The features a program needs; a program with fewer compiles faster."""

    pattern: str
    glows: bool
    by_lamps: bool
    mirrors_floor: bool
    knows_far: bool
    clouded: bool


def set_fragment(kind: ProgramKind) -> str:
    """Return the fragment shader for a kind of surface."""
    flags = {"GLOWS": kind.glows, "BY_LAMPS": kind.by_lamps, "MIRRORS_FLOOR": kind.mirrors_floor,
             "KNOWS_FAR": kind.knows_far, "CLOUDED": kind.clouded}
    # Floors mirror only where level. The sea's waves are tilted, and their slopes tilt the facets.
    waves = kind.pattern == "shore"
    defined = [f"LEAST_LEVEL {0.7 if waves else 0.99}", f"SLOPES {float(waves)}",
               f"PATTERN {PATTERN_NAMES.index(kind.pattern)}",
               *(name for name, is_set in flags.items() if is_set)]
    head = "".join(f"#define {name}\n" for name in defined)
    start = LIGHT.replace("#version 330\n", f"#version 330\n{head}", 1)
    lamps, floor = LAMPS if kind.by_lamps else "", FLOOR if kind.mirrors_floor else ""
    far = FAR if kind.knows_far else ""
    rest = GLOWING if kind.glows else FRESNEL + SKY + VOLUME + far + lamps + floor + SURFACE
    return start + MATERIAL + NOISE + PATTERNS + rest


SKY_VERTEX = """\
#version 330
in vec2 corner;
in vec3 ray;
out vec3 way;
void main() { gl_Position = vec4(corner, 1.0, 1.0); way = ray; }
"""

SKY_FRAGMENT = """\
#version 330
#define CLOUDED
in vec3 way;
out vec4 result;
""" + NOISE + SKY + """
void main() {
    vec3 to = normalize(way);
    result = vec4(to.z < 0.0 ? strength * below : sky_above(to), 1.0);
}
"""
